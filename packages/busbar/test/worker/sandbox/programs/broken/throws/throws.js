import './throws-inside.js'
