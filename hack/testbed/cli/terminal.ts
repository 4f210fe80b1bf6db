import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { bareEnvironment } from '../environment.ts'

interface Terminal {
  readonly command: readonly string[]
  /** The width; 0 for a terminal that does not know it. */
  readonly columns: number
  readonly env?: Readonly<Record<string, string>>
  /** Changes the columns when the output contains a text. */
  readonly resize?: { readonly at: string; readonly columns: number }
  /** Sends bytes of a keyboard when the output contains a text, such as `\x03` for Ctrl-C. */
  readonly keys?: { readonly at: string; readonly bytes: string }
}

interface Shown {
  readonly output: string
  /** Exit status; negative: the signal that ended it. */
  readonly status: number
}

/** Runs a command on a terminal, by the pty module of Python. */
export async function onTerminal({
  command,
  columns,
  env = {},
  resize,
  keys,
}: Terminal): Promise<Shown> {
  const given = JSON.stringify({ command, columns, resize, keys })
  const child = spawn('python3', ['-c', program, given], {
    env: { ...bareEnvironment, TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  await exited
  const [, status] = /status (-?\d+)$/.exec(errors.trim()) ?? []
  if (status === undefined) throw new Error(`python3 did not run ${command[0]}: ${errors}`)
  return { output, status: Number(status) }
}

const program = `
import fcntl, json, os, pty, struct, sys, termios
given = json.loads(sys.argv[1])
def size(fd, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24 if columns else 0, columns, 0, 0))
begin, go = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    os.close(go)
    os.read(begin, 1)
    os.execvp(given['command'][0], given['command'])
os.close(begin)
size(fd, given['columns'])
os.write(go, b'x')
seen = b''
resize, keys = given.get('resize'), given.get('keys')
while True:
    try:
        chunk = os.read(fd, 65536)
    except OSError:
        break
    if not chunk:
        break
    seen += chunk
    os.write(1, chunk)
    if resize and resize['at'].encode() in seen:
        size(fd, resize['columns'])
        resize = None
    if keys and keys['at'].encode() in seen:
        os.write(fd, keys['bytes'].encode())
        keys = None
_, ended = os.waitpid(pid, 0)
print('status', os.waitstatus_to_exitcode(ended), file=sys.stderr)
`
