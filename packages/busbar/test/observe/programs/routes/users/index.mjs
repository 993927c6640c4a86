import express from 'express'

const app = express()
const orders = express.Router({ mergeParams: true })
orders.get('/:order', (_, response) => response.send('order'))
app.all('/users/any/:one', (_, response) => response.send('any'))
app.get('/users/me', (_, response) => response.send('me'))
app.get('/users/:user', (_, response) => response.send('user'))
app.use('/users/:user/orders', orders)
const groups = express.Router()
groups.get('/members', (_, response) => response.send('members'))
app.use('/users/in/:group', groups)
app.use('/users/made/:name', (request, response, next) => {
  const made = express.Router()
  made.get('/now', (_, answer) => answer.send('now'))
  made(request, response, next)
})
app.listen(3002)
