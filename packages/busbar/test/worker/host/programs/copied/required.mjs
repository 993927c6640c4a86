import counter from './counter.js'

export const state = {
  count: 0,
  counter,
  file: import.meta.filename === process.argv[1].replace('index.js', 'required.mjs'),
}
