/** Passes what it is asked on to `jobs`, by a typed call. */
import { createServer } from 'node:http'
import { client } from 'busbar/client'
import { jobs } from '../jobs/contract.ts'

const calls = client(jobs)
createServer((request, response) => {
  calls.wait(Number(request.url!.split('/').at(-1))).then(
    (answer) => response.end(answer),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
}).listen(3000)
