import { defineApp } from 'busbar'

export default defineApp({
  gateway: {
    port: 3044,
    openapi: true, // before the routes: /openapi.json and, for people, /docs
    routes: {
      '/': 'web',
      '/api/catalog': 'catalog',
      '/api/stock': 'stock',
      '/api/cart': 'cart',
      '/api/checkout': 'checkout',
    },
  },
  defaults: { run: 'shared' },
  services: {
    web: './web',
    catalog: { path: './catalog', needs: ['stock'] },
    stock: './stock',
    cart: { path: './cart', needs: ['catalog'] },
    checkout: { path: './checkout', needs: ['cart', 'stock'] },
  },
})
