/** Makes a certificate in the folder `CERTS`. That of its CA is in the folder `ca`. */
import { runBusbar } from './run.ts'

await runBusbar('cert', 'lab', '127.0.0.1', '--days', '2', '--certs', process.env['CERTS'] ?? 'certs')
