import { run } from './run.ts'

// `npm run fuzz -- --count 100000 --seed 1`: unusual requests to services in every placement.
const main = 'packages/busbar/test/raw/fuzz/main.ts'
process.exit(await run('node', ['--conditions=busbar-source', main, ...process.argv.slice(2)]))
