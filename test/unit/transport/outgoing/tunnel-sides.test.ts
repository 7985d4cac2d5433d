// Two connections that are joined, when one of them is over and the other is not.
import { Duplex, PassThrough } from 'node:stream';
import test from 'ava';
import { joinSides } from '../../../../transport/outgoing/tunnel-sides.ts';

const MANY = 20;

/** A connection as this server has it, and its other end. */
class FarEnd {
  /** What the other end says. */
  readonly said = new PassThrough();
  readonly heard: string[] = [];
  /** What it is sent waits, and nobody takes it. */
  isStuck = false;
  readonly near: Duplex;

  constructor() {
    const { said, heard } = this;
    this.near = new Duplex({
      allowHalfOpen: true,
      read() {
        said.resume();
      },
      write: (chunk: Buffer, _encoding, done) => {
        heard.push(chunk.toString());
        if (!this.isStuck) done();
      },
    });
    said.on('data', (chunk: Buffer) => this.near.push(chunk));
    said.on('end', () => this.near.push(null));
  }
}

/** What streams do by themselves has been done. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function joined() {
  const [client, backend] = [new FarEnd(), new FarEnd()];
  const open = new Set<Duplex>();
  const looks = new Set<() => void>();
  let isOver = false;
  const begun = joinSides(client.near, backend.near, open, (look) => {
    looks.add(look);
    return () => void looks.delete(look);
  });
  void begun.then(() => {
    isOver = true;
  });
  const lookOften = async (before: (look: number) => void = () => {}): Promise<void> => {
    for (let look = 0; look < MANY; look++) {
      before(look);
      await settled();
      await settled();
      for (const one of looks) one();
      await settled();
    }
  };
  return { client, backend, open, looks, isOver: () => isOver, lookOften };
}

for (const which of ['client', 'backend'] as const)
  for (const isStuck of [false, true])
    test(`when the ${which} is over, the other side ${isStuck ? 'that takes nothing' : 'that is silent'} does not keep both`, async (t) => {
      const { open, looks, isOver, lookOften, ...sides } = joined();
      const [ended, other] = which === 'client' ? [sides.client, sides.backend] : [sides.backend, sides.client];
      other.isStuck = isStuck;
      ended.said.end('the last');
      await settled();
      t.deepEqual(other.heard, ['the last']);
      await lookOften();
      t.true(isOver());
      t.is(open.size, 0);
      t.is(looks.size, 0);
    });

for (const which of ['client', 'backend'] as const) {
  /** Joined sides of which one has said everything, and broken off. */
  const brokenOff = async () => {
    const { client, backend, ...rest } = joined();
    const [gone, other] = which === 'client' ? [client, backend] : [backend, client];
    gone.said.end('the last');
    await settled();
    await settled();
    gone.near.destroy();
    await settled();
    return { other, ...rest };
  };

  test(`when the ${which} breaks off behind its end, the other side is let go as soon as it ends`, async (t) => {
    const { other, open, looks, isOver } = await brokenOff();
    t.false(isOver());
    other.said.end('unheard');
    for (let turn = 0; turn < MANY; turn++) await settled();
    t.deepEqual(other.heard, ['the last']);
    t.true(isOver());
    t.is(open.size, 0);
    t.is(looks.size, 0);
  });

  test(`when the ${which} breaks off behind its end, the other side does not go on for ever, whatever it says`, async (t) => {
    const { other, looks, isOver, lookOften } = await brokenOff();
    await lookOften((look) => void other.said.write(`${look} `));
    t.true(isOver());
    t.is(looks.size, 0);
  });
}

test('who has said everything hears the other side out, however long that speaks', async (t) => {
  const { client, backend, isOver, lookOften } = joined();
  client.said.end();
  await settled();
  await settled();
  await lookOften((look) => void backend.said.write(`${look} `));
  t.false(isOver());
  t.is(client.heard.length, MANY);
  backend.said.end();
  await settled();
  await settled();
  t.true(isOver());
});

test('two sides that have nothing to say stay joined', async (t) => {
  const { client, backend, isOver, lookOften } = joined();
  await lookOften();
  t.false(isOver());
  client.said.write('still here');
  await settled();
  t.deepEqual(backend.heard, ['still here']);
  client.near.destroy();
  await settled();
  t.true(isOver());
});
