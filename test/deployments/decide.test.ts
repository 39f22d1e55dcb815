import { describe, expect, test } from 'vitest';
import {
  holdingComment,
  mostComment,
  judgeDeployments,
  type Release,
  type Deployment,
} from '../../src/deployments/deployment.ts';
import type { StoredFreeze } from '../../src/freezes/freeze.ts';

const freeze = (more: Partial<StoredFreeze> = {}): StoredFreeze => ({
  ...{ id: 'f', repositoryId: 1n, reason: 'Books', start: '', end: null, timezone: 'UTC', version: 1 },
  ...{ startsAt: new Date(0), endsAt: null, matchingConditions: [], excludeConditions: [] },
  ...more,
});

/** `Deploy 3` is a run that waits and was held; `Deploy 3!` was never held; `Deploy 3=approved` was decided. */
function deployment(text: string): Deployment {
  const [, workflow, number, fresh, state = 'waiting', environment = 'production'] =
    /^(\w+) (\d+)(!?)(?:=(\w+))?(?: to (\w+))?$/.exec(text)!;
  return {
    ...{ runId: BigInt(number!), attempt: 1, environment: environment!, workflow: workflow! },
    ...{
      workflowPath: `${workflow}.yml`,
      runNumber: Number(number),
      ref: 'main',
      sha: 'a'.repeat(40),
      startedBy: null,
      commitTitle: null,
    },
    ...{ requestedAt: new Date(Number(number)), state: state as Deployment['state'], decidedAt: null },
    ...{ freezeIds: fresh ? [] : ['f'], attempted: null, reports: 0, report: null },
  };
}

function judge(texts: string[], release: Release, holding: (each: Deployment) => StoredFreeze[] = () => []) {
  const all = texts.map(deployment);
  const verdicts = judgeDeployments(all, holding, release);
  return texts.flatMap((text, at) => {
    const verdict = verdicts.get(all[at]!);
    if (!verdict) return [];
    const about = verdict.kind === 'supersede' ? verdict.by : verdict.kind === 'queue' ? verdict.after : null;
    return [`${text}: ${verdict.kind}${about ? ` ${about.runNumber}` : ''}`];
  });
}

describe('at the end of a freeze', () => {
  test.each<[Release, string[], string[]]>([
    // What was never held goes at once, whatever else asks.
    ['newest', ['Deploy 1!', 'Deploy 2!'], ['Deploy 1!: approve', 'Deploy 2!: approve']],
    // An older one is rejected only when a newer one has gone out.
    ['newest', ['Deploy 1', 'Deploy 2'], ['Deploy 1: queue 2', 'Deploy 2: approve']],
    ['newest', ['Deploy 1', 'Deploy 2=approved'], ['Deploy 1: supersede 2']],
    ['newest', ['Deploy 1', 'Deploy 2=bypassed'], ['Deploy 1: supersede 2']],
    ['newest', ['Deploy 2', 'Deploy 1=approved'], ['Deploy 2: approve']],
    ['newest', ['Deploy 1', 'Deploy 2!'], ['Deploy 1: queue 2', 'Deploy 2!: approve']],
    // Another workflow, or another environment, is another thing.
    ['newest', ['Deploy 1', 'Docs 2'], ['Deploy 1: approve', 'Docs 2: approve']],
    ['newest', ['Deploy 1', 'Deploy 2 to eu'], ['Deploy 1: approve', 'Deploy 2 to eu: approve']],
    [
      'all',
      ['Deploy 1', 'Docs 2', 'Deploy 3!'],
      ['Deploy 1: approve', 'Docs 2: queue 1', 'Deploy 3!: queue 1'],
    ],
    ['all', ['Deploy 1', 'Deploy 2 to eu'], ['Deploy 1: approve', 'Deploy 2 to eu: approve']],
    ['all', ['Deploy 1!', 'Deploy 2!'], ['Deploy 1!: approve', 'Deploy 2!: approve']],
  ])('%s: %j', (release, texts, verdicts) => expect(judge(texts, release)).toEqual(verdicts));
});

test('while freezes hold, one that rejects wins, and what is free goes', () => {
  const holding = ({ environment }: Deployment) =>
    environment === 'production'
      ? [freeze()]
      : environment === 'eu'
        ? [freeze(), freeze({ onDeployment: 'reject' })]
        : [];
  expect(judge(['Deploy 1', 'Deploy 2 to eu', 'Deploy 3! to us'], 'newest', holding)).toEqual([
    'Deploy 1: hold',
    'Deploy 2 to eu: reject',
    'Deploy 3! to us: approve',
  ]);
});

test('the report stays below what GitHub takes, and shows what people wrote as code', () => {
  const reason = '`@everybody` '.repeat(1000);
  const comment = holdingComment([freeze({ reason })], () => `https://h/${'x'.repeat(300)}`, new Date(0));
  expect(comment.length).toBeLessThanOrEqual(mostComment);
  expect(comment).toContain('`` `@everybody`');
});
