const express = require('express')

const app = express().get('/', (_req, res) => res.json({ hello: 'express-app' }))
module.exports = { app, helper: () => {} }
