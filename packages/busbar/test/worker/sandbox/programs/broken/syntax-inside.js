import './syntax.js'
