const http = require('node:http')
const express = require('express')

exports.app = express().get('/', (_req, res) => res.json({ hello: 'the app alone' }))
exports.server = http.createServer((req, res) => res.end(JSON.stringify({ hello: 'express-server' })))
