// The order of a request's steps: what was taken for it is given back, however it ends.
import test from 'ava';
import type { RequestAudit } from '../../../../actors/auditing/request-audit.ts';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { Pipeline, type PipelineParts } from '../../../../actors/ingress/pipeline/pipeline.ts';
import { RemoteGroups } from '../../../../api/aggregation/remote-groups.ts';
import { forbidden } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { OrchError } from '../../../../runtime/errors.ts';
import { createLogger } from '../../../../runtime/logging/log.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { SeededRandom } from '../../../../runtime/simulation/seeded-random.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import type { HttpRequest, HttpResponse } from '../../../../transport/http.ts';

const USER = { name: 'somebody', uid: '', groups: [], extra: {} };
const ACCESS = { verb: 'get', isResource: false, path: '/version' };

interface Surroundings {
  readonly admitted?: object | Promise<object>;
  readonly entering?: (seat: object) => unknown;
  readonly isFair?: boolean;
  readonly auditor?: object;
  readonly time?: VirtualTime;
  readonly registry?: MetricsRegistry;
  readonly query?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** Takes what the auth actor is asked. */
  readonly asked?: object[];
  /** Takes the texts of answers. */
  readonly texts?: unknown[];
}

/** Serves one GET; answers what happened in its order. */
async function served(
  dispatch: (exchange: Exchange) => Promise<void>,
  {
    admitted = { user: USER },
    entering = (seat: object) => seat,
    isFair = false,
    auditor,
    time = new VirtualTime(),
    registry = new MetricsRegistry(),
    query = '',
    headers = [],
    asked = [],
    texts = [],
  }: Surroundings = {},
): Promise<readonly string[]> {
  const happened: string[] = [];
  const parts = {
    context: {
      clock: time,
      timers: time,
      metrics: registry,
      random: new SeededRandom(1),
      log: createLogger('test', { level: 'silent', format: 'json' }),
      nextRequestNumber: () => 1,
    },
    auth: {
      askSoon: (message: object) => {
        asked.push(message);
        return admitted;
      },
    },
    auditor,
    limits: {
      isFair,
      enter: () => {
        happened.push('seated');
        return entering({ leave: () => happened.push('left') });
      },
    },
    metrics: {
      begin: () => {},
      observe: ({ terminatedBy }: Exchange) =>
        happened.push(terminatedBy === undefined ? 'counted' : `counted as turned away by the ${terminatedBy}`),
      cameLate: (isDone: boolean) => happened.push(isDone ? 'done all the same' : 'not done'),
    },
    representations: { ofStatus: () => ({ contentType: 'application/json', encode: JSON.stringify }) },
    requestTimeoutMs: 1000,
    remotes: new RemoteGroups(DIALECTS.orch),
    dispatch,
  } as unknown as PipelineParts;
  const request = {
    method: 'GET',
    path: '/version',
    query,
    isWebSocket: false,
    header: () => '',
    hasHeaderWithPrefix: () => headers.length > 0,
    headersWithPrefix: () => headers,
  } as unknown as HttpRequest;
  const response = {
    aborted: false,
    respond: (code: number, _headers: unknown, text: unknown) => {
      happened.push(`answered ${code}`);
      texts.push(text);
    },
  } as unknown as HttpResponse;
  await new Pipeline(parts).serve(request, response);
  return happened;
}

test('a request that was served has left its seat', async (t) => {
  const happened = await served(async (exchange) => exchange.answer(200, [], ''));
  t.deepEqual(happened, ['seated', 'answered 200', 'left', 'counted']);
});

test('a request that was served within its client’s time is over, and is not given up when that has passed', async (t) => {
  const time = new VirtualTime();
  const happened = await served(async (exchange) => exchange.answer(200, [], ''), { time, query: 'timeout=500ms' });
  await time.advance(10_000);
  t.deepEqual(happened, ['seated', 'answered 200', 'left', 'counted']);
});

test('a request that is given up before it is known whose it is has no seat, and is not served later', async (t) => {
  const time = new VirtualTime();
  let admit = (_admitted: object): void => {};
  const admitted = new Promise<object>((resolve) => {
    admit = resolve;
  });
  const serving = served(async () => t.fail(), { time, query: 'timeout=500ms', admitted });
  await time.advance(600);
  admit({ user: USER });
  t.deepEqual(await serving, ['answered 504', 'counted as turned away by the apiserver']);
});

test('a request for which there is no seat is told to come back', async (t) => {
  const texts: unknown[] = [];
  const happened = await served(async () => t.fail(), {
    texts,
    entering: () => {
      throw new OrchError('Overloaded', 'no seat');
    },
  });
  t.deepEqual(happened, ['seated', 'answered 429', 'counted as turned away by the apiserver']);
  t.deepEqual(texts, ['Too many requests, please try again later.\n']);
});

test('a request that waits for its seat is served when it has one', async (t) => {
  const happened = await served(async (exchange) => exchange.answer(200, [], ''), {
    entering: (seat: object) => Promise.resolve(seat),
  });
  t.deepEqual(happened, ['seated', 'answered 200', 'left', 'counted']);
});

test('a request that waits to be known is served when it is', async (t) => {
  const happened = await served(async (exchange) => exchange.answer(200, [], ''), {
    admitted: Promise.resolve({ user: USER }),
  });
  t.deepEqual(happened, ['seated', 'answered 200', 'left', 'counted']);
});

test('a request that fails gives its seat back', async (t) => {
  const refusing = async (): Promise<void> => {
    throw new StatusError(forbidden({ group: '', plural: 'pods' }, 'a', 'no'));
  };
  t.deepEqual(await served(refusing), ['seated', 'left', 'answered 403', 'counted']);
  const failing = (): Promise<void> => Promise.reject(new Error('broken'));
  t.deepEqual(await served(failing), ['seated', 'left', 'answered 500', 'counted as turned away by the apiserver']);
});

test('a request that is forbidden had a seat, and was not dispatched', async (t) => {
  const admitted = { user: USER, refusal: { user: USER, access: ACCESS, reason: '' } };
  const happened = await served(async () => t.fail(), { admitted });
  t.deepEqual(happened, ['seated', 'left', 'answered 403', 'counted']);
});

test('a request that nobody could decide about had a seat, and fails', async (t) => {
  const admitted = { user: USER, refusal: { user: USER, access: ACCESS, reason: 'no', error: 'gone' } };
  const texts: string[] = [];
  const happened = await served(async () => t.fail(), { admitted, query: 'a=<b>', texts });
  t.deepEqual(happened, ['seated', 'left', 'answered 500', 'counted']);
  t.deepEqual(texts, ['Internal Server Error: "/version?a=&lt;b&gt;": gone\n']);
});

test('a request to act as nobody fails when it is known who asks, and is recorded', async (t) => {
  const headers: readonly (readonly [string, string])[] = [['impersonate-group', 'ops']];
  t.deepEqual(await served(async () => t.fail(), { admitted: { user: null }, headers }), ['answered 401', 'counted']);
  const recorded: unknown[] = [];
  const audit = { annotate: () => {}, started: () => {}, ended: () => recorded.push('ended') };
  const auditor = {
    begin: (exchange: Exchange, user: object) => {
      recorded.push(user);
      exchange.audit = audit as unknown as RequestAudit;
      return audit;
    },
    admitted: (_audit: object, _admitted: object, isImpersonating: boolean) => {
      recorded.push(isImpersonating);
    },
  };
  const asked: object[] = [];
  const happened = await served(async () => t.fail(), { headers, auditor, asked });
  t.deepEqual(happened, ['answered 500', 'counted']);
  t.deepEqual(recorded, [USER, true, 'ended']);
  t.like(asked[0], { impersonate: null });
});

test('a request of nobody is refused without a seat', async (t) => {
  t.deepEqual(await served(async () => t.fail(), { admitted: { user: null } }), ['answered 401', 'counted']);
});

/** A wait of so long, as it goes by. */
async function passed(time: VirtualTime, ms: number): Promise<void> {
  const over = new Promise<void>((resolve) => void time.after(ms, resolve));
  void time.advance(ms);
  await over;
}

for (const isFair of [true, false]) {
  test(`of the filters on the way of a request ${isFair ? 'the wait for its turn' : 'the recording'} is measured where it is on`, async (t) => {
    const time = new VirtualTime();
    const registry = new MetricsRegistry();
    const entering = async (seat: object): Promise<object> => {
      await passed(time, 50);
      return seat;
    };
    const auditor = {
      begin: () => ({ annotate: () => {}, ended: () => {}, started: () => {} }),
      admitted: () => passed(time, 20),
    };
    const happened = await served(async (exchange) => exchange.answer(200, [], ''), {
      ...{ time, registry, entering, isFair },
      ...(isFair ? {} : { auditor }),
    });
    t.true(happened.includes('answered 200'));
    const measured = registry
      .reading()
      .flatMap(({ series }) => series.map(({ labels, value }) => [labels.filter, value]));
    t.deepEqual(measured, isFair ? [['priorityandfairness', 0.05]] : [['audit', 0.02]]);
  });
}

test('a request that is refused a seat is not measured', async (t) => {
  const registry = new MetricsRegistry();
  const entering = (): never => {
    throw new StatusError(forbidden({ group: '', plural: 'pods' }, 'a', 'no'));
  };
  await served(async () => t.fail(), { registry, entering, isFair: true });
  t.is(registry.reading()[0]?.name, 'apiserver_request_filter_duration_seconds');
  t.deepEqual(
    registry.reading()[0]?.series.map(({ counts = [] }) => counts.every((count) => count === 0)),
    [true],
  );
});

const REFUSED = new StatusError(forbidden({ group: '', plural: 'pods' }, 'a', 'no'));
const LATE: readonly (readonly [ended: string, dispatch: (exchange: Exchange) => void, said: string])[] = [
  ['is carried out', (exchange) => exchange.answer(201, [], ''), 'done all the same'],
  ['is refused', (exchange) => exchange.answer(409, [], ''), 'not done'],
  [
    'fails',
    () => {
      throw REFUSED;
    },
    'not done',
  ],
];
for (const [ended, end, said] of LATE) {
  test(`a request whose client has no more time is turned away, and counted by what it still comes to where it ${ended}`, async (t) => {
    const time = new VirtualTime();
    const dispatch = async (exchange: Exchange): Promise<void> => {
      await passed(time, 50);
      end(exchange);
    };
    t.deepEqual(await served(dispatch, { time, query: 'timeout=20ms' }), [
      'seated',
      'answered 504',
      'counted as turned away by the apiserver',
      'left',
      said,
    ]);
  });
}

test('an answer is held back for its record no longer than its request may take', async (t) => {
  const time = new VirtualTime();
  const left: (number | undefined)[] = [];
  const ended = (leftMs?: number): void => void left.push(leftMs);
  const audit = { annotate: () => {}, answerStatus: () => {}, started: () => {}, ended };
  const auditor = {
    begin: (exchange: Exchange) => {
      exchange.audit = audit as unknown as RequestAudit;
      return audit;
    },
    admitted: () => passed(time, 50),
  };
  for (const query of ['', 'timeout=200ms', 'timeout=20ms'])
    await served(async (exchange) => exchange.answer(200, [], ''), { time, query, auditor });
  t.deepEqual(left, [950, 150, 0]);
});

test('a request that was still waiting for its turn when its time was over comes to nothing that counts', async (t) => {
  const time = new VirtualTime();
  const entering = async (): Promise<never> => {
    await passed(time, 50);
    throw REFUSED;
  };
  const happened = await served(async () => t.fail(), { time, query: 'timeout=20ms', entering });
  t.deepEqual(happened, ['seated', 'answered 504', 'counted as turned away by the apiserver']);
});
