// `npm run start:ssl`: the same app, served over HTTPS.
process.env['FANOUT_TLS'] = '1'
await import('./start.ts')

export {}
