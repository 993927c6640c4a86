import 'reflect-metadata'
import { Body, Controller, Get, HttpException, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'

class Items {
  list() {
    return { items: [1, 2] }
  }
  fails() {
    throw new HttpException('why', 418)
  }
  create(body) {
    return body
  }
}

class App {}

// What a compiler makes of decorators.
decorate('list', Get())
decorate('fails', Get('fails'))
decorate('create', Post())
Body()(Items.prototype, 'create', 0)
Controller('items')(Items)
Module({ controllers: [Items] })(App)

export async function nestServer() {
  const app = await NestFactory.create(App, { logger: false })
  await app.init()
  return app.getHttpServer()
}

function decorate(name, decorator) {
  decorator(Items.prototype, name, Object.getOwnPropertyDescriptor(Items.prototype, name))
}
