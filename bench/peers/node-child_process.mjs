// child_process.spawn, its events made promises.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { now, require, serve } from './serve.mjs';

async function captured([program, ...args]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const pieces = { stdout: [], stderr: [] };
  child.stdout.on('data', (piece) => pieces.stdout.push(piece));
  child.stderr.on('data', (piece) => pieces.stderr.push(piece));
  const [code] = await once(child, 'close');
  require(code === 0, `${program} exited with ${code}`);
  return { stdout: Buffer.concat(pieces.stdout), stderr: Buffer.concat(pieces.stderr) };
}

async function exec(count, argv) {
  const begin = now();
  await Promise.all(Array.from({ length: count }, () => captured(argv)));
  return now() - begin;
}

async function stream(bytes, [program, ...args]) {
  const begin = now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let seen = 0;
  child.stdout.on('data', (piece) => { seen += piece.length; });
  const [code] = await once(child, 'close');
  const took = now() - begin;
  require(code === 0 && seen === bytes, `${seen} bytes came, exit code ${code}`);
  return took;
}

async function firstByte(_, [program, ...args]) {
  const begin = now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const [piece] = await Promise.race([once(child.stdout, 'data'), closed]);
  const took = now() - begin;
  const [code] = await closed;
  require(code === 0 && piece.length > 0, `${program} exited with ${code}, its first piece is ${piece}`);
  return took;
}

await serve(`node ${process.version}`, { exec, exec64: exec, stream, 'first-byte': firstByte });
