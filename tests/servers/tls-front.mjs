// tls-front.mjs PORT CERT KEY [LOG] - HTTPS in front of a plain server on this machine: HTTP/2 where the client takes it, else 1.1.
//
// Prints its port as one line and serves until it is killed. LOG gets a line a connection, "h2" or "http/1.1", and 
// "request" a request. H1=1 in the environment offers 1.1 only, HOST the address to listen on.
// DELAY=MS: so long is the way, there and back; TCP's own first journey is added to the first bytes.
import http from 'node:http'
import http2 from 'node:http2'
import fs from 'node:fs'
import net from 'node:net'

const [port, cert, key, log] = process.argv.slice(2)
const agent = new http.Agent({ keepAlive: true })
const note = (line) => log && fs.appendFileSync(log, line + '\n')
const server = http2.createSecureServer({
	cert: fs.readFileSync(cert), key: fs.readFileSync(key), allowHTTP1: true,
	...(process.env.H1 ? { ALPNProtocols: ['http/1.1'] } : {}),
})
server.on('secureConnection', (s) => note(s.alpnProtocol || 'http/1.1'))
server.on('request', (req, res) => {
	note('request')
	const headers = {}
	for (const [name, value] of Object.entries(req.headers)) if (!name.startsWith(':')) headers[name] = value
	const to = http.request({ port, agent, method: req.method, path: req.url, headers }, (from) => {
		const back = {}
		for (const [name, value] of Object.entries(from.headers))
			if (!['connection', 'keep-alive', 'transfer-encoding'].includes(name)) back[name] = value
		res.writeHead(from.statusCode, back)
		from.on('data', (d) => res.write(d))
		from.on('end', () => res.end())
		from.on('error', () => res.destroy())
	})
	to.on('error', () => res.destroy())
	res.on('close', () => to.destroy())
	req.pipe(to)
})
const host = process.env.HOST || '127.0.0.1'
const listen = (s, then) => s.listen(0, host, () => then(s.address().port))
const late = (from, to, way, first) => {
	let next = Date.now() + first
	from.on('data', (d) => {
		next = Math.max(next, Date.now()) // order is kept: nothing overtakes the first bytes
		setTimeout(() => to.write(d), next - Date.now() + way)
	})
	from.on('end', () => setTimeout(() => to.end(), Math.max(next - Date.now(), 0) + way))
	from.on('error', () => to.destroy())
}
const delay = Number(process.env.DELAY || 0)
if (!delay) listen(server, console.log)
else listen(server, (port) => listen(net.createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
	const to = net.connect({ port, host, noDelay: true, allowHalfOpen: true })
	late(client, to, delay / 2, delay)
	late(to, client, delay / 2, 0)
}), console.log))
