// tls-front.mjs PORT CERT KEY [LOG] - HTTPS in front of a plain server on this machine: HTTP/2 where the client takes it, else 1.1.
//
// Prints its port as one line and serves until it is killed. LOG gets a line a connection, "h2" or "http/1.1", and a line a request,
// "request". H1=1 in the environment offers 1.1 only, HOST the address to listen on.
import http from 'node:http'
import http2 from 'node:http2'
import fs from 'node:fs'

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
server.listen(0, process.env.HOST || '127.0.0.1', () => console.log(server.address().port))
