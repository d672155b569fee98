// The Core Foundation names that client code writes in casts and signatures. On Apple's systems they are toll-free twins of Foundation's
// classes; here they are those classes.
@_exported import Foundation

public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFArray = NSArray
public typealias CFData = NSData
public typealias CFMutableData = NSMutableData
public typealias CFURL = NSURL
public typealias CFNumber = NSNumber
public typealias CFBoolean = NSNumber
public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
public typealias CFTypeID = UInt
public typealias OSType = UInt32
public typealias OSStatus = Int32

/// Accepted wherever an allocator can be named, and ignored.
public final class CFAllocator: Sendable {
    init() {}
}

/// The default allocator.
public let kCFAllocatorDefault: CFAllocator? = nil
/// True as an object.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
/// False as an object.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
