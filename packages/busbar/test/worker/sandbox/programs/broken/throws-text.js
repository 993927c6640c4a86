throw 'only text'
