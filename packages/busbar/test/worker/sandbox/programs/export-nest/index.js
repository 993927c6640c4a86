require('reflect-metadata')
const { Controller, Get, Module } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')

class HelloController {
  hello() {
    return { hello: 'export-nest' }
  }
}
Controller()(HelloController)
Get()(HelloController.prototype, 'hello', Object.getOwnPropertyDescriptor(HelloController.prototype, 'hello'))

class AppModule {}
Module({ controllers: [HelloController] })(AppModule)

module.exports = NestFactory.create(AppModule, { logger: false })
