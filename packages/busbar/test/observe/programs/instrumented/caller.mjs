import { createServer } from 'node:http'

createServer(async (_, response) => response.end(await (await fetch('http://web.internal/')).text())).listen(3001)
