console.log('done')
