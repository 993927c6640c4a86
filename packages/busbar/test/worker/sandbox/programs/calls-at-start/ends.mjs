// Leaves behind what LEAVES names, and never listens.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { createGzip } from 'node:zlib'

const url = new URL('http://slow.internal/')
const leavings = {
  'an idle kept connection': () => get(url, { agent: new Agent({ keepAlive: true }) }, (response) => response.resume()),
  'a connection that it has closed': () => {
    const socket = connect(80, url.hostname, () => socket.destroy())
  },
  'a connection without a ref': () => {
    const socket = connect(80, url.hostname, () => socket.unref())
  },
  'a response': () => fetch(url).then((response) => response.text()),
  'random bytes': () => randomBytes(8),
  'a key': () => generateKeyPairSync('ed25519'),
  'an idle stream of zlib': () => createGzip().write('text'),
}
leavings[process.env.LEAVES]()
