import { createServer, Server } from 'node:http'

createServer((request, response) => response.end(`${request.instrumented} ${seen}`)).listen(3000)

let seen = 0
// As OpenTelemetry's instrumentation does when `http` is required later than this server listens.
const { emit } = Server.prototype
Server.prototype.emit = function (event, ...args) {
  if (event === 'request') {
    args[0].instrumented = true
    seen++
  }
  return Reflect.apply(emit, this, [event, ...args])
}
