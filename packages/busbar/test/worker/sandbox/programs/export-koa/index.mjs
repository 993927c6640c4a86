import Koa from 'koa'

export default new Koa().use((ctx) => {
  ctx.body = { hello: 'export-koa' }
})
