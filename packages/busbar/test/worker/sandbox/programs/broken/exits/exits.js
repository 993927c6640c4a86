console.log('leaving')
process.on('exit', (code) => console.log('exit handler', code))
process.exit(3)
console.log('never said')
