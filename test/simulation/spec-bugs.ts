// Bugs of what objects want, planted: of what is given to services, and of generations.
import { ServiceAllocation } from '../../actors/admission/service-allocation.ts';
import { EXPECT_ABSENT, EXPECT_ANY } from '../../actors/store/protocol.ts';
import { ADDRESS_RECORDS, PORT_RECORDS } from '../../api/services/service-claims.ts';
import { isPutOf, type PlantedBug, withAsks, withMethod, withTransactions } from './planting.ts';
import { mixNamed } from './workload.ts';

const GENERATION = /"generation":(\d)(?=[,}])/;

export const SPEC_BUGS: readonly PlantedBug[] = [
  {
    name: 'what one service was given is given to another',
    mix: mixNamed('specs'),
    sign: /is given to .+ and /,
    plant: () =>
      withTransactions((operation) =>
        isPutOf(operation, [ADDRESS_RECORDS, PORT_RECORDS]) && operation.expect === EXPECT_ABSENT
          ? { ...operation, expect: EXPECT_ANY }
          : operation,
      ),
  },
  {
    name: 'what a service was given is not free when it is gone',
    mix: mixNamed('specs'),
    sign: /is held for no service/,
    plant: () => withMethod(ServiceAllocation.prototype, 'release', () => () => Promise.resolve([])),
  },
  {
    name: 'a change of the spec is the same generation',
    mix: mixNamed('specs'),
    sign: /came to generation 1 where 2 was due/,
    plant: () =>
      withAsks<'store', 'commit'>('admission', 'store', 'commit', (message) => {
        const payload = Buffer.from(message.payload);
        for (const { operations } of message.transactions) {
          for (const operation of operations) {
            if (!isPutOf(operation, ['apps/replicasets']) || operation.expect <= 0) continue;
            const { valueOffset, valueLength } = operation;
            const value = payload.toString('latin1', valueOffset, valueOffset + valueLength);
            payload.write(value.replace(GENERATION, '"generation":1'), valueOffset, 'latin1');
          }
        }
        return { ...message, payload };
      }),
  },
];
