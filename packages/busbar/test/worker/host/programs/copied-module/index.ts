#!/usr/bin/env node
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { state } from './state.ts'
import legacy from './legacy.cjs'

const require = createRequire(import.meta.url)
const { state: again } = await import(new URL('./state.ts', import.meta.url).href)

createServer(async (req, res) => {
  state.count++
  legacy.count++
  const { late } = await import('./late.ts')
  late.count++
  res.end(
    JSON.stringify({
      count: state.count,
      legacy: require('./legacy.cjs').count,
      late: late.count,
      lateSame: late.state === state,
      same: again === state,
      main: import.meta.main,
      byPath: process.argv[1] === fileURLToPath(import.meta.url),
      url: import.meta.url,
      name: process.env.NAME,
    }),
  )
}).listen(3000)
