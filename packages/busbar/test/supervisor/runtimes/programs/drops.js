// Starts a child that outlives the request, lists the descriptors of a child, and drops
// connections.
import { execFile, fork, spawn } from 'node:child_process'
import { createServer } from 'node:http'

const lists = ['-c', 'ls -l /proc/self/fd | grep socket | grep -vc " [012] ->"']

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost')
  const end = (body) => response.end(JSON.stringify(body))
  if (pathname === '/drop') request.socket.destroy()
  else if (pathname === '/spawn') end(spawn('sleep', ['60'], { stdio: searchParams.get('stdio') ?? 'ignore' }).pid)
  else if (pathname === '/stdio') {
    const child = spawn('true', { stdio: ['pipe', 'pipe', 'pipe', 'ignore', 'pipe'] })
    end(child.stdio.map((one) => one !== null))
  } else if (pathname === '/exec') execFile('sh', lists, (_, stdout) => end(Number(stdout)))
  else if (pathname === '/fork') {
    const child = fork(new URL('echoes.js', import.meta.url), [], { execArgv: [] })
    child.once('message', (message) => child.kill() && end(message))
    child.send('heard')
  } else response.end()
}).listen(3000)
