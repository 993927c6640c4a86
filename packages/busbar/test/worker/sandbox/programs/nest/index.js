require('reflect-metadata')
const { Controller, Get, Module } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')

class HelloController {
  hello() {
    return { hello: 'nest' }
  }
}
Controller()(HelloController)
Get()(HelloController.prototype, 'hello', Object.getOwnPropertyDescriptor(HelloController.prototype, 'hello'))

class AppModule {}
Module({ controllers: [HelloController] })(AppModule)

async function bootstrap() {
  const app = await NestFactory.create(AppModule)
  await app.listen(3000)
}
bootstrap()
