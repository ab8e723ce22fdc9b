//! Which errors of Kafka mean what to us.

use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};

/// What an error means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Brokers are away or changing; it passes.
    Unreachable,
    /// We may not.
    Refused,
    /// Another has our transactional id.
    Fenced,
    /// The group has given our partitions to others.
    Moved,
    /// A record is too large.
    TooLarge,
    /// There is no such topic or partition.
    NoTopic,
    /// A position is not there.
    Gone,
    /// Anything else.
    Other,
}

/// What a code means.
pub(super) fn meaning(code: Code) -> Meaning {
    match code {
        Code::BrokerTransportFailure
        | Code::AllBrokersDown
        | Code::Resolve
        | Code::SSL
        | Code::OperationTimedOut
        | Code::TimedOutQueue
        | Code::MessageTimedOut
        | Code::RequestTimedOut
        | Code::NetworkException
        | Code::LeaderNotAvailable
        | Code::NotLeaderForPartition
        | Code::BrokerNotAvailable
        | Code::ReplicaNotAvailable
        | Code::CoordinatorLoadInProgress
        | Code::CoordinatorNotAvailable
        | Code::NotCoordinator
        | Code::NotController
        | Code::NotEnoughReplicas
        | Code::NotEnoughReplicasAfterAppend
        | Code::WaitingForCoordinator
        | Code::DestroyBroker
        | Code::BrokerDestroy
        | Code::FencedLeaderEpoch
        | Code::UnknownLeaderEpoch
        | Code::OffsetNotAvailable
        | Code::ConcurrentTransactions
        | Code::KafkaStorageError
        | Code::InProgress
        | Code::Retry => Meaning::Unreachable,
        Code::Authentication
        | Code::SaslAuthenticationFailed
        | Code::UnsupportedSASLMechanism
        | Code::IllegalSASLState
        | Code::TopicAuthorizationFailed
        | Code::GroupAuthorizationFailed
        | Code::ClusterAuthorizationFailed
        | Code::TransactionalIdAuthorizationFailed => Meaning::Refused,
        Code::Fenced | Code::ProducerFenced | Code::InvalidProducerEpoch => Meaning::Fenced,
        Code::IllegalGeneration
        | Code::UnknownMemberId
        | Code::FencedInstanceId
        | Code::RebalanceInProgress
        | Code::FencedMemberEpoch
        | Code::StaleMemberEpoch
        | Code::AssignmentLost => Meaning::Moved,
        Code::MessageSizeTooLarge | Code::InvalidMessageSize | Code::MessageBatchTooLarge => Meaning::TooLarge,
        Code::UnknownTopic | Code::UnknownTopicOrPartition | Code::UnknownPartition | Code::UnknownTopicId => {
            Meaning::NoTopic
        }
        Code::AutoOffsetReset | Code::OffsetOutOfRange => Meaning::Gone,
        _ => Meaning::Other,
    }
}

/// The code of an error, where it has one.
pub(super) fn code(error: &KafkaError) -> Option<Code> {
    match error {
        KafkaError::AdminOp(code) => Some(*code),
        other => other.rdkafka_error_code(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_mean_what_is_to_be_done() {
        for (code, wanted) in [
            (Code::BrokerTransportFailure, Meaning::Unreachable),
            (Code::MessageTimedOut, Meaning::Unreachable),
            (Code::SaslAuthenticationFailed, Meaning::Refused),
            (Code::ProducerFenced, Meaning::Fenced),
            (Code::InvalidProducerEpoch, Meaning::Fenced),
            (Code::IllegalGeneration, Meaning::Moved),
            (Code::MessageSizeTooLarge, Meaning::TooLarge),
            (Code::UnknownTopicOrPartition, Meaning::NoTopic),
            (Code::AutoOffsetReset, Meaning::Gone),
            (Code::OutOfOrderSequenceNumber, Meaning::Other),
        ] {
            assert_eq!(meaning(code), wanted, "{code:?}");
        }
        assert_eq!(code(&KafkaError::AdminOp(Code::NotController)), Some(Code::NotController));
    }
}
