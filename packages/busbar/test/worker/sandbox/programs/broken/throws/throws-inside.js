throw new TypeError('no database')
