// A page of each list of a pull request. The query that reads many pull requests and the query that reads more pages of
// a list share these.

export const labelPage = /* GraphQL */ `
  fragment LabelPage on LabelConnection {
    nodes {
      name
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

export const assigneePage = /* GraphQL */ `
  fragment AssigneePage on UserConnection {
    nodes {
      login
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

export const reviewRequestPage = /* GraphQL */ `
  fragment ReviewRequestPage on ReviewRequestConnection {
    nodes {
      requestedReviewer {
        __typename
        ... on User {
          login
        }
        ... on Bot {
          login
        }
        ... on Mannequin {
          login
        }
        ... on Team {
          slug
          combinedSlug
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

export const reviewPage = /* GraphQL */ `
  fragment ReviewPage on PullRequestReviewConnection {
    nodes {
      state
      authorCanPushToRepository
      author {
        __typename
        login
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

export const reviewThreadPage = /* GraphQL */ `
  fragment ReviewThreadPage on PullRequestReviewThreadConnection {
    nodes {
      isResolved
      comments(first: 1) {
        nodes {
          body
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

/** GitHub requires a number for `parents`. */
export const commitPage = /* GraphQL */ `
  fragment CommitPage on PullRequestCommitConnection {
    nodes {
      commit {
        message
        author {
          name
          email
          date
          user {
            login
          }
        }
        committer {
          name
          email
          date
        }
        signature {
          isValid
          wasSignedByGitHub
        }
        parents(first: 1) {
          totalCount
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

export const contextPage = /* GraphQL */ `
  fragment ContextPage on StatusCheckRollupContextConnection {
    nodes {
      __typename
      ... on CheckRun {
        name
        status
        conclusion
        startedAt
        completedAt
        checkSuite {
          app {
            slug
          }
        }
      }
      ... on StatusContext {
        context
        state
        createdAt
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;

export const deploymentPage = /* GraphQL */ `
  fragment DeploymentPage on DeploymentConnection {
    nodes {
      environment
      createdAt
      latestStatus {
        state
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`;
