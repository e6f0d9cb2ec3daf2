// execa, as its documentation uses it: it throws where the exit code is not 0.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { now, require, serve } from './serve.mjs';

const version = JSON.parse(await readFile(new URL('node_modules/execa/package.json', import.meta.url))).version;

async function exec(count, [program, ...args]) {
  const begin = now();
  await Promise.all(Array.from({ length: count }, () => execa(program, args, { stdin: 'ignore', encoding: 'buffer' })));
  return now() - begin;
}

async function stream(bytes, [program, ...args]) {
  const begin = now();
  const child = execa(program, args, { stdin: 'ignore', stderr: 'inherit', buffer: false, encoding: 'buffer' });
  let seen = 0;
  child.stdout.on('data', (piece) => { seen += piece.length; });
  await child;
  const took = now() - begin;
  require(seen === bytes, `${seen} bytes came`);
  return took;
}

async function firstByte(_, [program, ...args]) {
  const begin = now();
  const child = execa(program, args, { stdin: 'ignore', stderr: 'inherit', buffer: false, encoding: 'buffer' });
  const [piece] = await Promise.race([once(child.stdout, 'data'), child.then(() => [''])]);
  const took = now() - begin;
  await child;
  require(piece.length > 0, 'no byte came');
  return took;
}

await serve(`execa ${version}, node ${process.version}`, { exec, exec64: exec, stream, 'first-byte': firstByte });
