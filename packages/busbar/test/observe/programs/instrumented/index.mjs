import { createServer, Server } from 'node:http'

createServer((request, response) => response.end(String(request.instrumented))).listen(3000)

// As OpenTelemetry's instrumentation does when `http` is required later than this server listens.
const { emit } = Server.prototype
Server.prototype.emit = function (event, ...args) {
  if (event === 'request') args[0].instrumented = true
  return Reflect.apply(emit, this, [event, ...args])
}
