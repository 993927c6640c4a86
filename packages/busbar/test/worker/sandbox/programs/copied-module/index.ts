#!/usr/bin/env node
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import shared from 'prom-client'
import data from './data.json' with { type: 'json' }
import { state } from './state.ts'

const { state: again } = await import(new URL('./state.ts', import.meta.url).href)

createServer(async (req, res) => {
  state.count++
  data.count++
  const { late } = await import('./late.ts')
  late.count++
  res.end(
    JSON.stringify({
      count: state.count,
      data: data.count,
      late: late.count,
      lateSame: late.state === state,
      same: again === state,
      main: import.meta.main,
      byPath: process.argv[1] === fileURLToPath(import.meta.url),
      url: import.meta.url,
      name: process.env.NAME,
      shared: (shared.seen = (shared.seen ?? 0) + 1),
    }),
  )
}).listen(3000)
