// node-pty: a program in a terminal, which stays from one request to the next.
import { readFile } from 'node:fs/promises';
import pty from 'node-pty';
import { now, serve } from './serve.mjs';

const version = JSON.parse(await readFile(new URL('node_modules/node-pty/package.json', import.meta.url))).version;

let terminal;
let wake = () => {};
const echo = () => new Promise((resolve) => { wake = resolve; });

/** Resolves when the program has shown its sign that it is ready. */
async function open([program, ...args]) {
  terminal = pty.spawn(program, args, { cols: 80, rows: 24, encoding: null });
  terminal.onData(() => wake());
  terminal.onExit(() => { console.log('error the terminal has ended'); process.exit(1); });
  await echo();
}

async function pressKeys(count, argv) {
  if (!terminal) await open(argv);
  const begin = now();
  for (let i = 0; i < count; ++i) {
    const echoed = echo();
    terminal.write('k');
    await echoed;
  }
  return now() - begin;
}

await serve(`node-pty ${version}, node ${process.version}`, { pty: pressKeys });
