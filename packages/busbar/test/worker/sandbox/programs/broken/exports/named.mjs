export const app = { name: 'shop' }
