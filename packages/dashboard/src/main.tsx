import '@preact/signals'
import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import './styles/theme.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/controls.css'
import './styles/pages.css'
import './styles/drawings.css'
import { App } from './app.tsx'
import { recording } from './recording/recording.ts'
import { showRecording } from './state/live.ts'

if (recording !== undefined) showRecording(recording)
render(<App />, document.getElementById('page')!)
