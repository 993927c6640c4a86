import { once } from 'node:events'
import fs from 'node:fs'
import { promisify } from 'node:util'

export const { promises } = fs
export const call = (name, ...args) => promisify(fs[name])(...args)
export const done = (name, ...args) =>
  new Promise((resolve, reject) => fs[name](...args, (error, ...results) => (error ? reject(error) : resolve(results))))
export const sorted = (names) => [...names].sort((one, other) => (String(one) < String(other) ? -1 : 1))
export const entry = ({ parentPath, path, name }) => `${parentPath}|${path}|${name}`
export const collect = async (found) => {
  const all = []
  for await (const one of found) all.push(one)
  return all
}
export const closed = async (stream) => {
  const [error] = await Promise.race([
    once(stream, 'close'),
    once(stream, 'error').then(([error]) => Promise.reject(error)),
  ])
  return error
}
