#!/usr/bin/env node
'use strict'
// Everything by which a program can recognise that it is the main module.
const Module = require('module')
const part = require('./part')
const path = require('path')

function thrown() {
  try {
    require('./missing')
  } catch (error) {
    return [error.code, error.requireStack.map((file) => path.basename(file))]
  }
}

const facts = {
  main: require.main === module,
  mainOfParts: part.main === module,
  process: process.mainModule === module,
  filename: path.basename(require.main.filename),
  id: module.id,
  partId: path.basename(part.id),
  parent: module.parent,
  partParent: part.parent === module,
  loaded: module.loaded,
  children: module.children.map(({ id }) => path.basename(id)),
  paths: module.paths[0].endsWith(path.join('main-module', 'node_modules')),
  cached: require.cache[__filename] === module,
  isStrict: (function () {
    return this === undefined
  })(),
  line: /index\.js:(\d+):/.exec(new Error('here').stack)[1],
  thrown: thrown(),
  loadedByName: Module._load('./part', module, false) === part,
  loadedAsMain: Module._load(path.join(__dirname, 'second.js'), null, true),
  mainAfterwards: path.basename(process.mainModule.filename),
}
facts.mainOfLater = path.basename(require('./later').main.filename)
process.mainModule = module
facts.assigned = process.mainModule === module

if (process.argv[2] === 'print') console.log(JSON.stringify(facts))
else
  require('http')
    .createServer((_, response) => response.end(JSON.stringify(facts)))
    .listen(3000)
