const Koa = require('koa')

exports.app = new Koa().use((ctx) => {
  ctx.body = { hello: 'koa-app' }
})
