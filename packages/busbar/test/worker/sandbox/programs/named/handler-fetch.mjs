export const handler = async ({ url }) => Response.json({ hello: 'handler-fetch', path: new URL(url).pathname })
