import counter from './counter.js'

export const state = { count: 0, counter }
