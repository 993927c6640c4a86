export default {
  workers: 1,
  gateway: { port: 0, grpc: true, entrance: 'portable' },
  services: { testing: './testing' },
}
