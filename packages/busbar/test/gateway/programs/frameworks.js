// Each answers POST /echo with the path it saw and the body it was sent. Untyped on purpose:
// what users have.
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import fastify4 from 'fastify4'
import Koa from 'koa'
import { json } from 'node:stream/consumers'

export const frameworks = {
  'Express 5': () => expressApp(express),
  'Express 4': () => expressApp(express4),
  'Fastify 5': () => fastifyListener(fastify()),
  'Fastify 4': () => fastifyListener(fastify4()),
  Koa: () => {
    const app = new Koa()
    app.use(async (context) => {
      context.body = { url: context.url, body: await json(context.req) }
    })
    return app.callback()
  },
}

function expressApp(make) {
  const app = make()
  app.use(make.json())
  app.post('/echo', (req, res) => res.json({ url: req.url, body: req.body }))
  return app
}

async function fastifyListener(app) {
  app.post('/echo', async (req) => ({ url: req.url, body: req.body }))
  await app.ready()
  return (req, res) => app.routing(req, res)
}
