const middleware = (_req, res, _next) => res.end(JSON.stringify({ hello: 'handler-middleware' }))

export const handler = (...all) => middleware(...all)
