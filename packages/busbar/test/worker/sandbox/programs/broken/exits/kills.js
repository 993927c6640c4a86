process.kill(process.pid, 'SIGTERM')
