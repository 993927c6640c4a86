import { createServer } from 'node:http'
import express5 from 'express'
import express4 from 'express4'
import fastify5 from 'fastify'
import fastify4 from 'fastify4'
import { expressApp } from './express.js'
import { fastifyServer } from './fastify.js'
import { honoListener } from './hono.js'
import { koaListener } from './koa.js'
import { nestServer } from './nest.js'

/** Each gives a server that does not listen yet. */
export const programs = {
  'Express 5': () => createServer(expressApp(express5)),
  'Express 4': () => createServer(expressApp(express4)),
  'Fastify 5': () => fastifyServer(fastify5),
  'Fastify 4': () => fastifyServer(fastify4),
  Koa: () => createServer(koaListener()),
  Hono: () => createServer(honoListener()),
  Nest: nestServer,
}
