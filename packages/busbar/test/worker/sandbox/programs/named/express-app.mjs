import express from 'express'

export const app = express().get('/', (_req, res) => res.json({ hello: 'express-app' }))
