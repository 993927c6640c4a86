import { createServer } from 'node:http'
import { colourOf } from './colours.ts'

enum Size {
  Small = 'small',
}

createServer((_, res) => res.end(JSON.stringify({ size: Size.Small, colour: colourOf() }))).listen(3000)
