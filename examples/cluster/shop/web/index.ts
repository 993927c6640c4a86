import { createServer, type ServerResponse } from 'node:http'
import { client } from 'busbar/client'
import { stock } from '../../stock/stock/contract.ts'

const stocks = client(stock)

async function answer(response: ServerResponse): Promise<void> {
  try {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(await stocks.count({ id: 7 })))
  } catch (error) {
    response.writeHead(503).end(`${(error as Error).message}\n`)
  }
}

createServer((_, response) => void answer(response)).listen(3000)
