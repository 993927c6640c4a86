import express from 'express'

const app = express()
const orders = express.Router({ mergeParams: true })
orders.get('/:order', (_, response) => response.send('order'))
app.get('/users/me', (_, response) => response.send('me'))
app.get('/users/:user', (_, response) => response.send('user'))
app.use('/users/:user/orders', orders)
app.listen(3002)
