'use strict'
Object.defineProperty(exports, '__esModule', { value: true })
exports.app = void 0
const express_1 = require('express')
exports.app = (0, express_1)()
exports.app.get('/', (_req, res) => res.json({ hello: 'express-compiled' }))
